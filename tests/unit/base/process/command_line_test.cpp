#include "profshim/base/command_line.h"

#include <gtest/gtest.h>

namespace profshim {
namespace {

std::string shown(const std::vector<std::string>& arguments) { return shown_command_line(arguments, true); }

TEST(ShownCommandLine, KeepsArgumentsThatAreNotSecrets) {
  EXPECT_EQ(shown({"python", "train.py", "--lr=0.1", "-p", "22", "--tokenizer", "bpe", "--max-tokens=512", "--sort-key",
                   "size", "data/token_list.txt"}),
            "python train.py --lr=0.1 -p 22 --tokenizer bpe --max-tokens=512 --sort-key size data/token_list.txt");
}

TEST(ShownCommandLine, MasksTheValuesOfSecretOptions) {
  EXPECT_EQ(shown({"x", "--token=abc", "--token", "abc", "--epochs", "3"}), "x --token=*** --token *** --epochs 3");
  EXPECT_EQ(shown({"x", "--password", "p w", "--API-Key=k", "--wandb_api_key", "k"}),
            "x --password *** --API-Key=*** --wandb_api_key ***");
  EXPECT_EQ(shown({"x", "--client-secret=s", "logger.api_key=s", "--hf-token", "t"}),
            "x --client-secret=*** logger.api_key=*** --hf-token ***");
}

TEST(ShownCommandLine, MasksVariables) {
  EXPECT_EQ(shown({"env", "AWS_SECRET_ACCESS_KEY=a", "HF_TOKEN=b", "SSH_KEY=c", "DB_PASSWORD=d", "OMP_NUM_THREADS=4"}),
            "env AWS_SECRET_ACCESS_KEY=*** HF_TOKEN=*** SSH_KEY=*** DB_PASSWORD=*** OMP_NUM_THREADS=4");
}

TEST(ShownCommandLine, MasksSecretsInScripts) {
  EXPECT_EQ(shown({"bash", "-c", "export HF_TOKEN=abc; python x.py --password 'a b' --lr 1"}),
            "bash -c export HF_TOKEN=***; python x.py --password *** --lr 1");
  EXPECT_EQ(shown({"sh", "-c", "API_KEY=\"a b\" ./run"}), "sh -c API_KEY=*** ./run");
}

TEST(ShownCommandLine, MasksHeadersAndUrls) {
  EXPECT_EQ(shown({"curl", "-H", "Authorization: Bearer abc", "https://me:pass@host/path"}),
            "curl -H Authorization: Bearer *** https://me:***@host/path");
  EXPECT_EQ(shown({"curl", "http://host:80/a@b"}), "curl http://host:80/a@b");
}

TEST(ShownCommandLine, AnOptionIsNotTheValueOfASecret) {
  EXPECT_EQ(shown({"x", "--ask-password", "--epochs", "3"}), "x --ask-password --epochs 3");
}

TEST(ShownCommandLine, CanBeLimitedToTheProgram) {
  EXPECT_EQ(shown_command_line({"python", "train.py", "--lr=1"}, false), "python");
}

TEST(ProcessArguments, BeginWithTheProgram) { EXPECT_FALSE(process_arguments().empty()); }

TEST(ProgramName, IsThatOfTheScriptOrModule) {
  EXPECT_EQ(program_name_of({"/opt/solver", "case.in"}), "solver");
  EXPECT_EQ(program_name_of({"/usr/bin/python3", "-u", "examples/train.py", "--lr", "1"}), "train");
  EXPECT_EQ(program_name_of({"python3", "-m", "pkg.train", "x.py"}), "pkg.train");
  EXPECT_EQ(program_name_of({"python3", "-c", "from multiprocessing.spawn import spawn_main; spawn_main()"}),
            "python3");
  EXPECT_EQ(program_name_of({"ray::Trainer.train()", "", ""}), "Trainer");
  EXPECT_EQ(program_name_of({"ray::IDLE"}), "IDLE");
  EXPECT_EQ(program_name_of({}), "program");
}

TEST(RoleOfTitle, IsTheClassOfAnActorOfRay) {
  EXPECT_EQ(role_of_title({"ray::RolloutWorker.generate()", "", ""}), "RolloutWorker");
  EXPECT_EQ(role_of_title({"ray::train_loop"}), "train_loop");
  EXPECT_EQ(role_of_title({"ray::IDLE"}), "");
  EXPECT_EQ(role_of_title({"python3", "train.py"}), "");
  EXPECT_EQ(role_of_title({}), "");
}

}  // namespace
}  // namespace profshim
