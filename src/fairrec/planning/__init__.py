"""Plans of audits: what one will find and rule out."""
