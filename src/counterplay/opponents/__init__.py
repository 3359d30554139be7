"""Who one plays against: bots, hand histories and models learnt from them."""
