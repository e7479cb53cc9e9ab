"""Models in the command palette."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import pgettext_lazy as pgettext

from portal.web.search import Hit, Query, SearchProvider
from registry.selectors import visible_models


def _models(query: Query) -> Iterator[Hit]:
    for model in query.narrow(visible_models(query.actor), "name"):
        kwargs = {"org": query.org, "team": model.team.slug, "model": model.name}
        yield Hit(model.name, reverse("model", kwargs=kwargs), model.team.slug)


PROVIDERS = (
    SearchProvider(
        "models", pgettext("group of search results, machine learning", "Models"), 30, _models
    ),
)
