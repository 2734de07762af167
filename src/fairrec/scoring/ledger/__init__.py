"""No user is paid for twice."""
