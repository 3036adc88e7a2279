"""The back office: the admin site for support, which shows and never changes."""
