"""The kinds of jobs that the simulated teams run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """A kind of job.

    `hours` is the median runtime, `use` the mean GPU utilization (0 to 1), `share` how often it is
    submitted relative to the others. `curve` names the curves that it logs,
    and `checkpoint` the checkpoint to which it saves.
    """

    team: str
    name: str
    command: str
    gpus: int
    pool: str
    hours: float
    use: float
    share: int
    curve: str = "train"
    tasks: int = 0
    memory: str = "64Gi"
    cpus: int = 8
    environment: tuple[tuple[str, str], ...] = ()
    checkpoint: str = ""


RECIPES = (
    Recipe(
        "language",
        "llm-7b-pretrain",
        "torchrun --nproc-per-node 8 train.py --config configs/7b.yaml",
        8,
        "h100",
        14,
        0.93,
        9,
        memory="480Gi",
        cpus=64,
        environment=(("LEARNING_RATE", "3e-4"), ("BATCH_SIZE", "512")),
        checkpoint="llm-7b",
    ),
    Recipe(
        "language",
        "llm-7b-sft",
        "accelerate launch finetune.py --data instruct-v3 --epochs 3",
        4,
        "h100",
        4,
        0.86,
        16,
        memory="240Gi",
        cpus=32,
        environment=(("LEARNING_RATE", "2e-5"),),
        checkpoint="llm-7b-sft",
    ),
    Recipe(
        "language",
        "eval-harness",
        "python -m evals.run --suite reasoning --model checkpoints/latest",
        1,
        "l40s",
        1.2,
        0.71,
        26,
        curve="eval",
    ),
    Recipe(
        "vision",
        "detector-vitl",
        "torchrun --nproc-per-node 8 tools/train.py configs/vitl_coco.py",
        8,
        "h100",
        9,
        0.81,
        10,
        memory="400Gi",
        cpus=64,
        environment=(("LEARNING_RATE", "1e-4"),),
        checkpoint="detector-vitl",
    ),
    Recipe(
        "vision",
        "segmentation-sweep",
        "python sweep.py --task $SLURM_ARRAY_TASK_ID",
        1,
        "l40s",
        2.5,
        0.64,
        5,
        tasks=12,
    ),
    Recipe(
        "vision",
        "dataloader-profile",
        "python profile_loader.py --workers 16",
        1,
        "l40s",
        0.4,
        0.22,
        14,
        curve="eval",
    ),
    Recipe(
        "speech",
        "asr-conformer",
        "torchrun --nproc-per-node 4 train_asr.py --hours 10000",
        4,
        "h100",
        7,
        0.77,
        12,
        memory="200Gi",
        cpus=32,
        environment=(("LEARNING_RATE", "1e-3"),),
    ),
    Recipe(
        "speech",
        "tts-vocoder",
        "python train_vocoder.py --preset v2",
        2,
        "l40s",
        5,
        0.69,
        13,
        memory="96Gi",
        cpus=16,
    ),
    Recipe(
        "robotics",
        "policy-ppo",
        "python -m rl.ppo --env PickPlace-v4 --num-envs 8192",
        1,
        "l40s",
        3.5,
        0.48,
        24,
        curve="rl",
    ),
    Recipe(
        "robotics",
        "world-model",
        "torchrun --nproc-per-node 8 train_world_model.py --horizon 64",
        8,
        "h100",
        11,
        0.58,
        6,
        memory="400Gi",
        cpus=64,
    ),
    Recipe(
        "robotics",
        "notebook",
        "jupyter lab --no-browser",
        2,
        "l40s",
        16,
        0.02,
        5,
        curve="",
    ),
)
SLUG = "aurora"
PEOPLE = (
    ("Maya Lindqvist", "owner", ("language", "vision")),
    ("Jonas Weber", "admin", ("vision",)),
    ("Priya Raman", "member", ("language",)),
    ("Tomás Herrera", "member", ("language",)),
    ("Hana Kim", "member", ("language", "speech")),
    ("Elif Yıldız", "member", ("vision",)),
    ("Marcus Boateng", "member", ("vision",)),
    ("Sofia Rossi", "member", ("speech",)),
    ("Kenji Watanabe", "member", ("speech",)),
    ("Amara Okafor", "member", ("robotics",)),
    ("Lukas Novák", "member", ("robotics",)),
    ("Chloé Martin", "member", ("robotics", "vision")),
)
TEAMS = {"language": "Language", "vision": "Vision", "speech": "Speech", "robotics": "Robotics"}
