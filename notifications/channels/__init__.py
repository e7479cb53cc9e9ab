"""Ways out of the portal: HTTP channels (webhook, Slack, Microsoft Teams) and e-mail."""
