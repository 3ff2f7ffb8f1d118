"""One file per verb, or per few that belong together."""
