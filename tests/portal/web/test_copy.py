"""The component that offers a text to copy."""

from __future__ import annotations

from django.template import Template
from django.template.context import Context
from django_cotton.compiler_regex import CottonCompiler


def test_slot_is_shown_without_white_space_around_it_and_escaped_once():
    source = "<c-copy>\n    run {{ name }} && exit\n</c-copy>"
    html = Template(CottonCompiler().process(source)).render(Context({"name": "<x>"}))
    assert '<pre tabindex="0">run &lt;x&gt; && exit</pre>' in html
