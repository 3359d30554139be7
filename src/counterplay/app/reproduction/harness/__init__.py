"""What experiments share: `judge` (claims and verdicts), `base` (experiments and outcomes), `store`
(pieces that are kept between runs, training among them), `report` (the page) and `reproduce`
(running experiments), in the order in which to read them."""
