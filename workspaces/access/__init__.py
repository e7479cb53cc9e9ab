"""Why somebody may or may not, from facts to an answer as data: `steps` (pure), `grants` (what would allow it), `words` (for people),
`people` (from the rows), `diff` (what a change of memberships would change)."""
