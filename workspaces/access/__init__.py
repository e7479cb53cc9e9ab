"""Access decisions and their explanations.

`steps` builds the chain of grants, `grants` finds what would allow an action, `explanation` renders
it as text, `check` reads the rows, and `differences` compares memberships before and after a
change.
"""
