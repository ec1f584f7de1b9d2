#pragma once

#include "analysis/summary/comms/comms_view.h"
#include "analysis/summary/kernels_view.h"
#include "analysis/summary/mpi_view.h"
#include "analysis/summary/phases_view.h"
#include "analysis/summary/steps_view.h"
#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

/// Makes the chosen views from timelines, added one by one.
class ViewSet {
 public:
  explicit ViewSet(const ViewChoice& choice) : choice_(choice), steps_(choice.gap_us) {}

  void add(const Timeline& timeline);
  Views finish();

 private:
  const ViewChoice choice_;
  KernelsView kernels_;
  StepsView steps_;
  CommsView comms_;
  MpiView mpi_;
  PhasesView phases_;
  Views result_;
};

}  // namespace profshim::analysis_detail
