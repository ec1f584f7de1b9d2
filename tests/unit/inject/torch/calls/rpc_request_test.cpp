// The request bytes are from PyTorch 2.15 and 1.13 with Python 3.11.
#include "inject/torch/calls/rpc_request.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace profshim::torch {
namespace {

using namespace std::string_view_literals;

constexpr int kScriptCall = 0x100, kPythonCall = 0x102, kPythonRemoteCall = 0x105, kForwardAutograd = 0x10f;

std::string name(int type, std::string_view payload, std::size_t room = 256) {
  std::string text(room, '?');
  text.resize(rpc_name(type, payload, "a", "b", text.data(), room));
  return text;
}

constexpr auto kFlag = "\0"sv;
constexpr auto kUdf =
    "\x80\x04\x95\x57\0\0\0\0\0\0\0\x8c\x1etorch.distributed.rpc.internal\x94\x8c\x09PythonUDF\x94\x93\x94"sv;
constexpr auto kPlus = "\x8c\x08__main__\x94\x8c\x04plus\x94\x93\x94)}\x94\x87\x94\x81\x94."sv;

std::string with(std::initializer_list<std::string_view> parts) {
  std::string whole;
  for (const std::string_view part : parts) whole += part;
  return whole;
}

TEST(TorchRpcRequest, NamesAPythonFunction) {
  EXPECT_EQ(name(kPythonCall, with({kFlag, kUdf, kPlus})), "rpc_call#plus(a -> b)");
}

TEST(TorchRpcRequest, NamesAMethodCalledThroughAnRRef) {
  const auto rref = with(
      {kFlag, kUdf, "\x8c\x20torch.distributed.rpc.rref_proxy\x94\x8c\x0d_local_invoke\x94\x93\x94("sv,
       "\x8c\x08"
       "builtins\x94\x8c\x07getattr\x94\x93\x94h\0\x8c\x13_InternalRPCPickler\x94\x93\x94"sv,
       "\x8c\x11_py_rref_receiver\x94\x86\x94R\x94(K\0K\x8cK\0K\x08K\0K\x01\x8c\x08PyObject\x94t\x94\x85\x94R\x94"sv,
       "\x8c\x05times\x94h\x01h\x02\x8c\x10_tensor_receiver\x94\x86\x94R\x94K\0\x85\x94R\x94\x85\x94}\x94t\x94}."sv});
  EXPECT_EQ(name(kPythonCall, rref), "rpc_call#rref.times(a -> b)");
}

TEST(TorchRpcRequest, NamesAPythonFunctionInATorchScriptPickle) {
  const std::string python = with({kUdf, kPlus});
  const char length = static_cast<char>(python.size());
  const auto remote = with({"\x80\x02(X"sv, {&length, 1}, "\0\0\0"sv, python, "q\0K\0K\x01\x86q\x01t."sv});
  EXPECT_EQ(name(kPythonRemoteCall, remote), "rpc_remote#plus(a -> b)");
}

TEST(TorchRpcRequest, NamesOperatorsAndScriptedFunctions) {
  const auto operation =
      "\x80\x02("
      "ctorch.jit._pickle\nbuild_tensor_from_id\nq\0(K\0tRq\x01K\x01K\x01X\x45\0\0\0"
      "aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"
      "q\x02X\x12\0\0\0torch.ops.aten.addq\x03t."sv;
  EXPECT_EQ(name(kScriptCall, operation), "rpc_call#aten::add(a -> b)");
  const auto scripted =
      "\x80\x02(ctorch.jit._pickle\nbuild_tensor_from_id\nq\0(K\0tRq\x01\x89X\x12\0\0\0"
      "__torch__.scriptedq\x02t."sv;
  EXPECT_EQ(name(kScriptCall, scripted), "rpc_call#__torch__.scripted(a -> b)");
}

// The pickle at the end of the message has the type of the wrapped request.
TEST(TorchRpcRequest, NamesTheRequestInAnAutogradContext) {
  const auto call = with({kFlag, kUdf, kPlus, "\x80\x02(M\x02\x01K\0K\x01t.\0\0\0\0\0\0\0\x0c"sv});
  EXPECT_EQ(name(kForwardAutograd, call), "rpc_call#plus(a -> b)");
  const auto fetch = with({"\x80\x02K\0."sv, "\x80\x02(M\x08\x01K\0K\x01t.\0\0\0\0\0\0\0\x0c"sv});
  EXPECT_EQ(name(kForwardAutograd, fetch), "rpc_rref_fetch(a -> b)");
}

TEST(TorchRpcRequest, NamesOtherRequestsByTheirKind) {
  EXPECT_EQ(name(0x10b, "\x80\x02K\0."sv), "rpc_rref_delete(a -> b)");
  EXPECT_EQ(name(0x111, ""), "rpc_backward(a -> b)");
  EXPECT_EQ(name(0x1ff, ""), "rpc_message(a -> b)");
}

TEST(TorchRpcRequest, AcceptsAnyBytes) {
  const std::string whole = with({kFlag, kUdf, kPlus, "\x80\x02(M\x02\x01K\0K\x01t.\0\0\0\0\0\0\0\x0c"sv});
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const std::string part(whole, 0, length);  // a copy, so that a sanitizer detects reads past its end
    EXPECT_TRUE(name(kForwardAutograd, part).starts_with("rpc_"));
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    for (const char byte : {'\0', '\x8c', '\xff', 'X', '\x8d'}) {
      changed[at] = byte;
      EXPECT_TRUE(name(kForwardAutograd, changed).starts_with("rpc_"));
    }
  }
  EXPECT_EQ(name(kPythonCall, with({kFlag, kUdf, kPlus}), 12), "rpc_call#pl");
}

}  // namespace
}  // namespace profshim::torch
