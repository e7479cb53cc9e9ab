"""URLs below `/xet/`."""

from django.urls import path

from datasets.xet import views

urlpatterns = [
    path("<str:org>/<uuid:repository>/v1/chunks/<str:prefix>/<str:chunk>", views.chunk),
    path("<str:org>/<uuid:repository>/v1/xorbs/<str:prefix>/<str:xorb>", views.xorb),
    path("<str:org>/<uuid:repository>/v1/shards", views.shard),
    path("<str:org>/<uuid:repository>/v1/reconstructions/<str:file>", views.reconstruction),
    path("parts/<str:signature>", views.part),
    path("<str:org>/<uuid:repository>/v1/telemetry", views.telemetry),
]
