"""Is a replaced note ever returned without its replacement?"""
