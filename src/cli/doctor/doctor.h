// `profshim doctor`: collects notes about this machine and one program; doctor.cpp prints them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profshim/spec.h"

namespace profshim::cli::doctor {

struct Note {
  enum class Verdict {
    kFact,        // neither good nor bad
    kRecorded,    // will be in the trace
    kUnrecorded,  // will not be in the trace; `text` says why
  };
  Verdict verdict = Verdict::kFact;
  std::string subject;  // "clock", "MPI", "MPI_Pready"
  std::string text;
};

class Notes {
 public:
  void fact(std::string subject, std::string text) { add(Note::Verdict::kFact, subject, text); }
  void recorded(std::string subject, std::string text) { add(Note::Verdict::kRecorded, subject, text); }
  void unrecorded(std::string subject, std::string text) { add(Note::Verdict::kUnrecorded, subject, text); }
  const std::vector<Note>& all() const { return all_; }
  bool any_unrecorded() const;

 private:
  void add(Note::Verdict verdict, std::string& subject, std::string& text) {
    all_.push_back({verdict, std::move(subject), std::move(text)});
  }
  std::vector<Note> all_;
};

// ---- machine.cpp

/// Adds notes about the library, glibc, the processor, the clock, shared memory, launchers, injection variables, the
/// GPU driver and CUPTI.
void examine_machine(Notes& notes);
/// Returns the path of libprofshim.so beside the tool or in ../lib; "" if there is none.
std::string library_of_tool();

// ---- command.cpp

/// The program that a command line runs.
struct Program {
  std::string path;                 // the executable that is loaded; "" = not found
  std::string script;               // the script, if the executable is an interpreter
  std::vector<std::string> behind;  // launchers and scripts in front of it, in order
  std::string problem;              // why path is ""
};
/// Follows launchers (mpirun, srun, torchrun, env ...), PATH and #! lines. Runs nothing.
Program find_program(const std::vector<std::string>& command);

// ---- program.cpp

/// Adds notes about what would be recorded of this program. Looks up the symbol steps of `spec`.
void examine_program(const Program& program, const Spec& spec, Notes& notes);

}  // namespace profshim::cli::doctor
