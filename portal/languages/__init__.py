"""English, Korean and Japanese: catalogues and their making (docs/design/languages.md)."""
