"""Decision trees as Quinlan's C4.5 grows them, release 8, in the manner of Weka's J48."""
