"""Operations on a store that are not tools of an agent."""
