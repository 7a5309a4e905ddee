"""What is printed in the paper on ASVLite (Thomas et al.), measured again here."""
