"""How long does each tool take inside the server?"""
