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
  EXPECT_EQ(shown({"curl", "-H", "Cookie: a=b; c=d", "-H", "X-Api-Key: k"}), "curl -H Cookie: *** -H X-Api-Key: ***");
  EXPECT_EQ(shown({"sh", "-c", "curl -H 'Cookie: a=b; c=d' x"}), "sh -c curl -H 'Cookie: ***' x");
  EXPECT_EQ(shown({"curl", "http://host:80/a@b"}), "curl http://host:80/a@b");
}

TEST(ShownCommandLine, AnOptionIsNotTheValueOfASecret) {
  EXPECT_EQ(shown({"x", "--ask-password", "--epochs", "3"}), "x --ask-password --epochs 3");
}

TEST(ShownCommandLine, MasksMembersOfJsonAndYaml) {
  EXPECT_EQ(shown({"x", R"(--config={"password": "X", "lr": 0.1})"}), R"(x --config={"password": ***, "lr": 0.1})");
  EXPECT_EQ(shown({"x", R"({"a":1,"api_key":"X Y","b":{"clientSecret" : 'z'},"max_tokens":5})"}),
            R"(x {"a":1,"api_key":***,"b":{"clientSecret" : ***},"max_tokens":5})");
  EXPECT_EQ(shown({"x", R"({"tokens_per_step": 8, "hf_token": ["a", "b"], "n": 1})"}),
            R"(x {"tokens_per_step": 8, "hf_token": ***, "n": 1})");
  EXPECT_EQ(shown({"x", "++run={lr:1,password:X,name:y}"}), "x ++run={lr:1,password:***,name:y}");
  EXPECT_EQ(shown({"sh", "-c", "x --json \"{\\\"password\\\": \\\"X\\\", \\\"n\\\": 1}\""}),
            "sh -c x --json \"{\\\"password\\\": ***, \\\"n\\\": 1}\"");
}

TEST(ShownCommandLine, MasksPasswordsBehindTheLetterP) {
  EXPECT_EQ(shown({"x", "-pS3cret!"}), "x -p***");
  EXPECT_EQ(shown({"/usr/bin/mysql", "-uroot", "-psecret", "-h", "db"}), "/usr/bin/mysql -uroot -p*** -h db");
  EXPECT_EQ(shown({"sh", "-c", "mysqldump -psecret db; x"}), "sh -c mysqldump -p*** db; x");
  EXPECT_EQ(shown({"sshpass", "-p", "secret", "ssh", "h"}), "sshpass -p *** ssh h");
  EXPECT_EQ(shown({"curl", "-u", "me:pw", "--user=me:pw", "x"}), "curl -u me:*** --user=me:*** x");
  EXPECT_EQ(shown({"x", "-p22", "-p8080:80", "-pthread", "-pc_type", "ilu", "--user", "1000:1000", "-p", "4"}),
            "x -p22 -p8080:80 -pthread -pc_type ilu --user 1000:1000 -p 4");
}

TEST(ShownCommandLine, MasksTokensOfServices) {
  EXPECT_EQ(shown({"x", "hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789", "sk-proj-aB3dE5gH7jK9mN1pQ3sT5vW7yZ"}),
            "x hf_*** sk-***");
  EXPECT_EQ(shown({"x", "--a=ghp_0123456789abcdefABCDEF0123456789abcd", "AKIAIOSFODNN7EXAMPLE"}),
            "x --a=ghp_*** AKIA***");
  EXPECT_EQ(shown({"git", "clone", "https://github_pat_11ABCDEFG0123456789_abcdefghijk@github.com/a/b"}),
            "git clone https://github_pat_***@github.com/a/b");
  EXPECT_EQ(shown({"python", "hf_trainer.py", "sk-learn-pipeline", "ghp_notes", "hf_transformers",
                   "disk-0123456789abcdef", "hf_generate"}),
            "python hf_trainer.py sk-learn-pipeline ghp_notes hf_transformers disk-0123456789abcdef hf_generate");
}

TEST(ShownCommandLine, MasksParametersOfUrls) {
  EXPECT_EQ(shown({"x", "https://a.blob/c?sp=r&sig=X%2B1&token=Y&n=1#top"}),
            "x https://a.blob/c?sp=r&sig=***&token=***&n=1#top");
  EXPECT_EQ(shown({"x", "s3://b/k?X-Amz-Signature=ab&X-Amz-Date=1"}), "x s3://b/k?X-Amz-Signature=***&X-Amz-Date=1");
  EXPECT_EQ(shown({"x", "--significance=1", "keys=a", "?page=2"}), "x --significance=1 keys=a ?page=2");
}

TEST(ShownCommandLine, AnOptionHasTheRestOfItsArgument) {
  EXPECT_EQ(shown({"x", "--password=a b'c;d", "--lr", "1"}), "x --password=*** --lr 1");
  EXPECT_EQ(shown({"x", "--password", "a b", "-n"}), "x --password *** -n");
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
