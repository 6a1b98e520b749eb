"""Reading of model files: meshes with their names, units, colours and transforms.

The module `load` has the public function and the list of formats. The other modules check and convert files.
"""
