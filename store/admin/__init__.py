"""Operations on a whole store: check, backup, erase, re-embed."""
