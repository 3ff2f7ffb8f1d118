"""The one place that holds the version: read by the build, and by `rec --version` before anything else is imported."""

__version__ = "0.1.0"
