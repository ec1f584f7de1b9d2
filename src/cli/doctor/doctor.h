// `profshim doctor`: notes about this machine and about one program. One file per question; doctor.cpp prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profshim/spec.h"

namespace profshim::cli::doctor {

/// One thing found out.
struct Note {
  enum class Verdict {
    kFact,        // neither good nor bad
    kRecorded,    // will be in the trace
    kUnrecorded,  // will not be, and why
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

// ---- doctor_machine.cpp
// ----------------------------------------------------------------------------------------------

/// Clock, shared memory, MPI launchers, glibc, injection variables, the library.
void look_at_machine(Notes& notes);
/// libprofshim.so beside the tool, or in ../lib of it as installed; "" when there is none.
std::string library_of_tool();

// ---- doctor_command.cpp
// ----------------------------------------------------------------------------------------------

/// What a command line really runs.
struct Program {
  std::string path;                 // the executable that is loaded; "" = not found
  std::string script;               // what it interprets, where it is an interpreter
  std::vector<std::string> behind;  // launchers and scripts passed on the way, in order
  std::string problem;              // why path is ""
};
/// Follows launchers (mpirun, srun, torchrun, env ...), PATH and #! lines. Runs nothing.
Program find_program(const std::vector<std::string>& command);

// ---- doctor_program.cpp
// ----------------------------------------------------------------------------------------------

/// What would be recorded of this program, and what not and why. `spec`: whose symbol steps are looked up.
void look_at_program(const Program& program, const Spec& spec, Notes& notes);

}  // namespace profshim::cli::doctor
