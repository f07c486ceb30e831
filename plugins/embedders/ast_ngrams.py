"""The former home of the default embedder, kept until every registration names the new one."""

from .ngrams import AstNgrams

__all__ = ["AstNgrams"]
