"""Own who may do what on a ClickHouse server: accounts with no more than they need, as SQL and as a file of users."""
