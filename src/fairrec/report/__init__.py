"""Audit result -> view -> text and Markdown."""
