"""Own issuing: a report gets its number and never changes; its bytes are signed and verified; each day is sealed.

`chains` says which rows hold; `reports` issues; `keys` and `signing` sign, `verifying` and `findings` say what a file is
worth; `day_seals` and `sealing` make one hash a day, `carrying` sends it.
"""
