#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profshim/spec.h"

namespace profshim::cli::doctor {

struct Note {
  enum class Verdict {
    kFact,
    kRecorded,
    kUnrecorded,
  };
  Verdict verdict = Verdict::kFact;
  std::string subject;
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

void examine_machine(const Spec& spec, Notes& notes);

struct Program {
  std::string path;                 // "" = not found
  std::string script;               // run by the interpreter `path`
  std::vector<std::string> behind;  // launchers and scripts that start the program
  std::string problem;
};
/// Runs nothing.
Program find_program(const std::vector<std::string>& command);

void examine_program(const Program& program, const Spec& spec, Notes& notes);

}  // namespace profshim::cli::doctor
