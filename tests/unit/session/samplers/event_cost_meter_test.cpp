#include "session/samplers/event_cost_meter.h"

#include <gtest/gtest.h>

namespace profshim::session {
namespace {

double of_layer(const EventCostMeter& meter, Layer layer) {
  return meter.known().value().of_layer[static_cast<std::size_t>(layer)];
}

TEST(EventCosts, CostsAreUnknownBeforeTheFirstMeasurement) {
  EventCostMeter meter;
  meter.measure_base();
  EXPECT_TRUE(meter.has_more());
  EXPECT_FALSE(meter.known().has_value());
  meter.measure();
  EXPECT_FALSE(meter.has_more());
  EXPECT_TRUE(meter.known().has_value());
}

TEST(EventCosts, LaterLayerIsUnknownUntilItIsMeasured) {
  EventCostMeter meter;
  meter.measure_base();
  meter.measure();
  const double base = of_layer(meter, Layer::kMpi);
  EXPECT_GT(base, 0);

  meter.measure_with(Layer::kMpi, [] { return 50.0; });
  EXPECT_TRUE(meter.has_more());
  EXPECT_LT(of_layer(meter, Layer::kMpi), 0);
  EXPECT_EQ(of_layer(meter, Layer::kNvtx), base);

  meter.measure();
  EXPECT_FALSE(meter.has_more());
  EXPECT_EQ(of_layer(meter, Layer::kMpi), 50);
  EXPECT_EQ(of_layer(meter, Layer::kNvtx), base);
}

TEST(EventCosts, ALayerIsMeasuredOnce) {
  static int asked = 0;
  EventCostMeter meter;
  meter.measure_base();
  meter.measure_with(Layer::kTorch, [] { return static_cast<double>(++asked); });
  meter.measure();
  meter.measure();
  EXPECT_EQ(asked, 1);
}

TEST(EventCosts, ALayerThatCannotBeMeasuredYetIsTriedAgainAFewTimes) {
  static int asked = 0;
  EventCostMeter meter;
  meter.measure_base();
  meter.measure_with(Layer::kTorch, [] { return ++asked == 3 ? 30.0 : -1.0; });
  meter.measure();
  EXPECT_FALSE(meter.has_more());
  EXPECT_LT(of_layer(meter, Layer::kTorch), 0);
  meter.measure();
  meter.measure();
  EXPECT_EQ(of_layer(meter, Layer::kTorch), 30);
  meter.measure();
  EXPECT_EQ(asked, 3);

  static int refused = 0;
  meter.measure_with(Layer::kMpi, [] { return --refused * 1.0; });
  for (int i = 0; i < 100; ++i) meter.measure();
  EXPECT_GE(refused, -10);
  EXPECT_LT(of_layer(meter, Layer::kMpi), 0);
}

}  // namespace
}  // namespace profshim::session
