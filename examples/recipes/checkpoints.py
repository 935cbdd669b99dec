"""Logs exact figures of the checkpoints of a run, by step: into TensorBoard, Weights & Biases, or as JSON lines.

    python examples/recipes/checkpoints.py 'runs/a/ckpt-*.onnx' --tensorboard runs/a
    python examples/recipes/checkpoints.py 'runs/a/ckpt-*.onnx' --wandb PROJECT
    python examples/recipes/checkpoints.py 'runs/a/ckpt-*.onnx' > figures.jsonl

The number in a file's name is the step. In a training loop the line with `scalars` is all that is needed.
"""

import argparse
import glob
import json
import re
import sys

import yomikiri as ym


def logger(args):
    """Returns a function that takes a step and its figures by name."""
    if args.tensorboard:
        from torch.utils.tensorboard import SummaryWriter

        writer = SummaryWriter(args.tensorboard)
        return lambda step, figures: [writer.add_scalar(name, number, step) for name, number in figures.items()]
    if args.wandb:
        import wandb

        wandb.init(project=args.wandb)
        return lambda step, figures: wandb.log(figures, step=step)
    return lambda step, figures: print(json.dumps({"step": step} | figures))


def step_of(path):
    """Returns the last number in a file's name; `None` if it has none."""
    numbers = re.findall(r"\d+", path.rsplit("/", 1)[-1])
    return int(numbers[-1]) if numbers else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", help="a pattern of file names")
    parser.add_argument("--game", default="othello-4x4")
    parser.add_argument("--tensorboard", metavar="DIR")
    parser.add_argument("--wandb", metavar="PROJECT")
    args = parser.parse_args()
    paths = sorted((path for path in glob.glob(args.files) if step_of(path) is not None), key=step_of)
    if not paths:
        sys.exit(f"no file with a number in its name matches {args.files}")
    log = logger(args)
    table = ym.open_or_solve(args.game, progress=False)
    for path in paths:
        report = ym.evaluate(table, f"onnx:{path}", progress=False)
        log(step_of(path), report.scalars(prefix="exact/"))


if __name__ == "__main__":
    main()
