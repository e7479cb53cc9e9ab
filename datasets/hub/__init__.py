"""The API of the Hugging Face Hub: set HF_ENDPOINT to `/hf` of this portal.

Its `dataset` is a dataset here and its `model` a checkpoint; its namespace is the organization.
Files are sent by Xet (`datasets.xet`) or by git LFS, and read by HTTP.
"""
