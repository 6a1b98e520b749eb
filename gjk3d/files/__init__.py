"""Reading of model files: meshes with their names, units, colours and transforms.

`load` is the public function and the list of formats. The other modules check and convert the files of a format.
"""
