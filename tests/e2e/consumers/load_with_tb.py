#!/usr/bin/env python3
"""Loads one window folder with the reader of torch_tb_profiler, without TensorBoard and without torch.

usage: load_with_tb.py FOLDER RANKS [--steps 11,12,13] [--operators A,B] [--memory CPU] [--stack TEXT] [--shapes]
       [--modules TREE]

Exit status 0 if the plugin's file pattern and parser take every trace, and find
  --steps, --operators   these steps and names
  --memory               a curve, blocks and operators of that device in the memory view
  --stack                an operator's call stack with that text
  --modules              this tree in the module view, such as "Sequential_0(Linear_0 Linear_1)"
  --shapes               calls of one operator with different input shapes
Prints one line per file.
"""
import argparse
import os
import sys
import tempfile


def tree_of(modules):
    return " ".join(m.name + (f"({tree_of(m.children)})" if m.children else "") for m in modules or [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("ranks", type=int)
    parser.add_argument("--steps", default="")
    parser.add_argument("--operators", default="")
    parser.add_argument("--memory", default="")
    parser.add_argument("--stack", default="")
    parser.add_argument("--shapes", action="store_true")
    parser.add_argument("--modules", default="")
    options = parser.parse_args()

    from torch_tb_profiler import consts
    from torch_tb_profiler.profiler.data import RunProfileData
    from torch_tb_profiler.profiler.module_op import aggegate_module_view
    from torch_tb_profiler.profiler.run_generator import RunGenerator

    problems = []
    wanted = [f"ProfilerStep#{s}" for s in options.steps.split(",") if s]
    wanted_names = [name.removeprefix("ProfilerStep#") for name in wanted]
    ranks = []
    for name in sorted(os.listdir(options.folder)):
        match = consts.WORKER_PATTERN.match(name)
        if not match:
            continue
        with tempfile.TemporaryDirectory() as cache:
            data = RunProfileData.parse(match.group(1), match.group(2), os.path.join(options.folder, name), cache)
            # The next calls remove the stacks from the operators.
            stacks = [s for ops in data.stack_lists_group_by_name.values() for op in ops for s in op.callstacks]
            profile = RunGenerator(match.group(1), match.group(2), data).generate_run_profile()
        rank = (data.distributed_info or {}).get("rank")
        ranks.append(rank)
        operators = [op.name for op in data.op_list_groupby_name]
        print(f"{name}: rank {rank}, steps {data.steps_names}, operators {operators[:8]}")
        if wanted and list(data.steps_names) != wanted_names:
            problems.append(f"{name}: steps {data.steps_names}, expected {wanted_names}")
        missing = {name for name in options.operators.split(",") if name} - set(operators)
        if missing:
            problems.append(f"{name}: no {sorted(missing)}")
        if options.memory:
            views = {"curve": profile.get_memory_curve, "blocks": profile.get_memory_events}
            views["operators"] = profile.get_memory_stats
            rows = {view: len(make()["rows"].get(options.memory, [])) for view, make in views.items()}
            print(f"  memory of {options.memory}: {rows}")
            if not all(rows.values()):
                problems.append(f"{name}: memory view of {options.memory} has {rows}")
        if options.stack:
            print(f"  {len(stacks)} call stacks")
            if not any(options.stack in stack for stack in stacks):
                problems.append(f"{name}: no call stack with {options.stack}")
        if options.shapes:
            shapes = {op.input_shape for op in data.op_list_groupby_name_input if op.name == "aten::addmm"}
            print(f"  shapes of aten::addmm: {sorted(shapes)}")
            if len(shapes) < 2:
                problems.append(f"{name}: aten::addmm has {sorted(shapes)}")
        if options.modules:
            tree = tree_of(aggegate_module_view(data.tid2tree, data.events))
            print(f"  modules: {tree}")
            if tree != options.modules:
                problems.append(f"{name}: the modules are {tree}")
        if not operators:
            problems.append(f"{name}: no operators found")
    if sorted(ranks) != list(range(options.ranks)):
        problems.append(f"ranks {ranks}, expected 0..{options.ranks - 1}")
    for problem in problems:
        print(f"FAILED: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
