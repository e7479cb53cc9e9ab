"""Uploads by the Xet protocol (https://huggingface.co/docs/xet), which the Hub's clients use.

A client cuts files into chunks by content, groups new chunks into xorbs and sends those, then a
shard that says of which chunks each file consists. The portal puts the files together and keeps
whole files; it remembers where each chunk of a xorb is, so that later files can refer to it.
"""
