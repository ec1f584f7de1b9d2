#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include "e2e/support/machine/locales.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

constexpr const char* kScript = R"(import locale, torch
locale.setlocale(locale.LC_ALL, "")
assert locale.str(2.5) == "2,5"
w = torch.zeros(4, 4, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.5)
for i in range(20):
    torch.full((4, 4), 1234567.25).clamp(min=0.125).mul(w).sum().backward()
    optimizer.step()
print(locale.format_string("%.1f", 2.5))
)";

constexpr const char* kSpec = R"(version = 1
[ranks]
select = "all"
[schedule]
skip_first = 3
[capture]
record_shapes = true
[limits]
window_seconds = 1234.5
[output]
folder = "traces"
gzip = false
)";

TEST(TorchLocale, OfTheProgramChangesNoNumber) {
  NEEDS_TORCH(1);
  for (const std::string locale : {"de_DE.UTF-8", "tr_TR.UTF-8"}) {
    SCOPED_TRACE(locale);
    const ScratchFolder scratch;
    Job job = torch_lines(scratch, kScript, kSpec);
    job.environment.emplace_back("WORLD_SIZE", "1");
    const auto variables = in_locale(locale);
    job.environment.insert(job.environment.end(), variables.begin(), variables.end());

    const Both both = run_both(job);

    expect_same(both);
    EXPECT_EQ(both.with.out, "2,5\n");
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u) << both.with.err;
    EXPECT_TRUE(traces[0].readable) << traces[0].error;
    const auto clamps = traces[0].calls("aten::clamp");
    ASSERT_FALSE(clamps.empty());
    EXPECT_NE(clamps[0]->args.at("Concrete Inputs").find("0.125"), std::string::npos);
    EXPECT_EQ(profshim({"verify", scratch / "traces"}).ending(), "exit 0");
    const auto summary = text_of_file(scratch / "traces/summary-rank0.json");
    rapidjson::Document json;
    json.Parse<rapidjson::kParseValidateEncodingFlag>(summary.c_str());
    EXPECT_FALSE(json.HasParseError()) << summary;
  }
}

}  // namespace
}  // namespace profshim::e2e
