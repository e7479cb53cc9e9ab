"""Load and push with datasets, transformers and pandas."""

import json
from pathlib import Path

import pandas as pd
from huggingface_hub import HfApi
from transformers import AutoConfig, BertConfig

from datasets import Dataset, load_dataset

api = HfApi()
folder = Path("lines/data")
folder.mkdir(parents=True)
for split, count in (("train", 3000), ("test", 10)):
    lines = [json.dumps({"number": n, "text": "x" * 40}) for n in range(count)]
    (folder / f"{split}.jsonl").write_text("\n".join(lines))
api.create_repo("home/lines", repo_type="dataset")
api.upload_folder(repo_id="home/lines", repo_type="dataset", folder_path="lines")
assert load_dataset("home/lines")["train"].num_rows == 3000
assert sum(row["number"] for row in load_dataset("home/lines", streaming=True, split="test")) == 45
assert len(pd.read_json("hf://datasets/home/lines/data/test.jsonl", lines=True)) == 10
Dataset.from_dict({"a": list(range(100))}).push_to_hub("home/pushed")
assert load_dataset("home/pushed")["train"]["a"][-1] == 99
BertConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=1).push_to_hub("home/tiny")
assert AutoConfig.from_pretrained("home/tiny").hidden_size == 8
print(json.dumps("done"))
