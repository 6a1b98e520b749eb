"""Reading of model files: meshes with their names, units, colours and transforms."""
