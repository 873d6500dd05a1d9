"""What adds to the stored ledger and reads it: rating, closing, showing, exporting."""
