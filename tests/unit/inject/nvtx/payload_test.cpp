#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "inject/nvtx/payload/render.h"

namespace profshim::nvtx {
namespace {

nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::uint64_t flags = 0,
                               std::uint64_t detail = 0) {
  nvtxPayloadSchemaEntry_t e{};
  e.type = type;
  e.name = name;
  e.flags = flags;
  e.arrayOrUnionDetail = detail;
  return e;
}

class Payload : public testing::Test {
 protected:
  std::uint64_t schema(const char* name, const std::vector<nvtxPayloadSchemaEntry_t>& entries,
                       std::uint64_t type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, std::size_t pack = 0) {
    nvtxPayloadSchemaAttr_t a{};
    a.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                  (pack != 0 ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT : 0);
    a.packAlign = pack;
    a.name = name;
    a.type = type;
    a.entries = entries.data();
    a.numEntries = entries.size();
    return make_schema(*domain_, a, 0);
  }
  template <class T>
  std::string render(std::uint64_t id, const T& data) {
    const nvtxPayloadData_t payload{id, sizeof data, &data};
    return std::string(render_payload(*domain_, &payload, 1, buffer_, message_));
  }

  Domain* domain_ = make_domain("payload test", nullptr);
  char buffer_[kMaxPayloadText];
  EventMessage message_;
};

TEST_F(Payload, RendersTheFieldNamesOfNcclsSchema) {
  struct {
    std::uint64_t comm, bytes;
    std::int32_t op;
  } data{0x1234, 4096, 2};
  static const nvtxPayloadEnum_t kOps[] = {{"Sum", 0, 0}, {"Max", 2, 0}};
  nvtxPayloadEnumAttr_t ops{};
  ops.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES;
  ops.entries = kOps;
  ops.numEntries = 2;
  const std::uint64_t op = make_enum(*domain_, ops, 0);
  const std::uint64_t id = schema("NCCL AllReduce", {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID"),
                                                     entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]"),
                                                     entry(op, "Reduction operation")});

  EXPECT_EQ(
      render(id, data),
      R"({"NCCL AllReduce":{"NCCL communicator ID":4660,"Message size [bytes]":4096,"Reduction operation":"Max"}})");
}

TEST_F(Payload, NamesOfFlagsAreEscaped) {
  static const nvtxPayloadEnum_t kFlags[] = {{"read\tonly", 1, 1}, {"\"fast\"", 2, 1}, {"unset", 4, 1}};
  nvtxPayloadEnumAttr_t flags{};
  flags.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                    NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  flags.entries = kFlags;
  flags.numEntries = 3;
  flags.sizeOfEnum = 4;
  const std::uint64_t id = schema("s", {entry(make_enum(*domain_, flags, 0), "mode")});

  EXPECT_EQ(render(id, std::uint32_t{3}), R"({"s":{"mode":"read only|\"fast\""}})");
  EXPECT_EQ(render(id, std::uint32_t{9}), R"({"s":{"mode":"read only|8"}})");
}

TEST_F(Payload, NestedArraysAndStringsFollowNaturalAlignment) {
  struct Inner {
    char c;
    double d;
  };
  struct {
    std::int16_t small;
    Inner inner;
    std::int32_t list[3];
    char fixed[6];
    const char* text;
  } data{-1, {'x', 1.5}, {1, 2, 3}, "ab", "say \"hi\""};
  const std::uint64_t inner =
      schema("", {entry(NVTX_PAYLOAD_ENTRY_TYPE_CHAR, "c"), entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "d")});
  const std::uint64_t id = schema(
      "s", {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "small"), entry(inner, "inner"),
            entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "list", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 3),
            entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "fixed", 0, 6), entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text")});

  EXPECT_EQ(render(id, data),
            R"({"s":{"small":-1,"inner":{"c":"x","d":1.5},"list":[1,2,3],"fixed":"ab","text":"say \"hi\""}})");
}

TEST_F(Payload, APackedStructureInsideAnotherHasThePackedSizeAndAlignment) {
#pragma pack(push, 1)
  struct Inner {
    char c;
    double d;
  };
#pragma pack(pop)
  struct {
    char before;
    Inner list[2];
    std::int32_t after;
  } data{'a', {{'x', 1.5}, {'y', 2.5}}, 7};
  const std::uint64_t inner =
      schema("", {entry(NVTX_PAYLOAD_ENTRY_TYPE_CHAR, "c"), entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "d")},
             NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 1);
  const std::uint64_t id = schema("s", {entry(NVTX_PAYLOAD_ENTRY_TYPE_CHAR, "before"),
                                        entry(inner, "list", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 2),
                                        entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "after")});

  EXPECT_EQ(render(id, data), R"({"s":{"before":"a","list":[{"c":"x","d":1.5},{"c":"y","d":2.5}],"after":7}})");
}

TEST_F(Payload, AMessageMayHaveAnyStringType) {
  struct {
    const char* utf8;
    const char16_t* utf16;
    const char32_t* utf32;
  } data{"caf\u00e9", u"caf\u00e9 \U0001f600", U"caf\u00e9 \U0001f600 32"};
  const auto message_in = [&](std::size_t message) {
    const std::uint64_t types[] = {NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16,
                                   NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32};
    std::vector<nvtxPayloadSchemaEntry_t> entries;
    for (std::size_t i = 0; i < 3; ++i) {
      entries.push_back(entry(types[i], "text", i == message ? NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE : 0));
    }
    message_.text = {};
    render(schema("s", entries), data);
    return std::string(message_.text);
  };

  EXPECT_EQ(message_in(0), "caf\u00e9");
  EXPECT_EQ(message_in(1), "caf\u00e9 \U0001f600");
  EXPECT_EQ(message_in(2), "caf\u00e9 \U0001f600 32");
  EXPECT_EQ(message_in(3), "");
}

TEST_F(Payload, APayloadOfACStringTypeIsTheTextItself) {
  const auto render_text = [&](std::uint64_t type, const void* text, std::size_t size) {
    const nvtxPayloadData_t payload{type, size, text};
    return std::string(render_payload(*domain_, &payload, 1, buffer_, message_));
  };

  EXPECT_EQ(render_text(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "a text of the job", SIZE_MAX),
            R"({"payload":"a text of the job"})");
  EXPECT_EQ(render_text(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, "0123456789", 4), R"({"payload":"0123"})");
  EXPECT_EQ(render_text(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16, u"sixteen", SIZE_MAX), R"({"payload":"sixteen"})");
  EXPECT_EQ(render_text(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32, U"thirty-two", 24), R"({"payload":"thirty"})");
  EXPECT_EQ(render_text(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, nullptr, SIZE_MAX), R"({"payload":null})");
}

TEST_F(Payload, ReadsTheLengthOfAnArrayBehindAPointerFromAnotherField) {
  const double values[] = {0.5, 2};
  struct {
    std::uint64_t length;
    const double* values;
  } data{2, values};
  const std::uint64_t id =
      schema("s", {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "n"),
                   entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "values",
                         NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, 0)});

  EXPECT_EQ(render(id, data), R"({"s":{"n":2,"values":[0.5,2]}})");
}

TEST_F(Payload, AUnionShowsTheSelectedMember) {
  struct {
    std::int32_t selector;
    union {
      std::int32_t i;
      float f;
    } u;
  } data{1, {}};
  data.u.f = 2.5F;
  const std::uint64_t u =
      schema("", {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "i"), entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "f")},
             NVTX_PAYLOAD_SCHEMA_TYPE_UNION);
  const std::uint64_t id = schema("s", {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "which"), entry(u, "u", 0, 0)});

  EXPECT_EQ(render(id, data), R"({"s":{"which":1,"u":{"f":2.5}}})");
}

TEST_F(Payload, FieldsAfterAUnionFollowItsLargestMember) {
  struct {
    std::int32_t selector;
    union {
      std::int32_t i;
      float f;
    } u;
    std::int32_t after;
  } data{0, {7}, 9};
  const std::uint64_t u =
      schema("", {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "i"), entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "f")},
             NVTX_PAYLOAD_SCHEMA_TYPE_UNION);
  const std::uint64_t id = schema("s", {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "which"), entry(u, "u", 0, 0),
                                        entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "after")});

  EXPECT_EQ(render(id, data), R"({"s":{"which":0,"u":{"i":7},"after":9}})");
}

TEST_F(Payload, AnArrayOfOneElementIsAnArray) {
  struct Inner {
    std::int32_t x;
  };
  struct {
    std::int32_t list[1];
    Inner inner[1];
  } data{{3}, {{4}}};
  const std::uint64_t inner = schema("", {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "x")});
  const std::uint64_t id =
      schema("s", {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "list", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 1),
                   entry(inner, "inner", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 1)});

  EXPECT_EQ(render(id, data), R"({"s":{"list":[3],"inner":[{"x":4}]}})");
}

TEST_F(Payload, WritesMissingValuesAsNullAndInfinityAsText) {
  struct {
    double infinite;
  } data{-1.0 / 0.0};
  const std::uint64_t id =
      schema("s", {entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "a"), entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "beyond")});

  EXPECT_EQ(render(id, data), R"({"s":{"a":"-Infinity","beyond":null}})");
}

TEST_F(Payload, LeavesOutFieldsThatDoNotFitAndMarksThePlace) {
  const std::string name(200, 'n');
  std::vector<nvtxPayloadSchemaEntry_t> entries(40, entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, name.c_str()));
  std::uint8_t data[40] = {};
  const std::uint64_t id = schema("s", entries);

  const std::string text = render(id, data);

  EXPECT_LE(text.size(), kMaxPayloadText);
  EXPECT_EQ(text.substr(text.size() - 13), R"(,"...":true}})");
}

TEST_F(Payload, RendersNothingForAnUnknownSchema) {
  const int data = 1;

  EXPECT_EQ(render(0x7777, data), "");
}

}  // namespace
}  // namespace profshim::nvtx
