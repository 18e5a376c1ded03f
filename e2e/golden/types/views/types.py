from __future__ import annotations

import datetime
import uuid
from typing import (
    Annotated,
    Any,
    List,
    Literal,
    Optional,
    TypedDict,
)
from typing_extensions import NotRequired, TypeAlias

from pydantic import BaseModel, Field, JsonValue



class PublicItemDetails(BaseModel):
    body: Optional[str] = Field(alias="body")
    item_id: int = Field(alias="item_id")

class PublicItemDetailsInsert(TypedDict):
    body: NotRequired[Annotated[Optional[str], Field(alias="body")]]
    item_id: Annotated[int, Field(alias="item_id")]

class PublicItemDetailsUpdate(TypedDict):
    body: NotRequired[Annotated[Optional[str], Field(alias="body")]]
    item_id: NotRequired[Annotated[int, Field(alias="item_id")]]

class PublicItems(BaseModel):
    id: int = Field(alias="id")
    price: float = Field(alias="price")
    shop_id: int = Field(alias="shop_id")
    sold_at: Optional[datetime.datetime] = Field(alias="sold_at")
    title: str = Field(alias="title")

class PublicItemsInsert(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    price: NotRequired[Annotated[float, Field(alias="price")]]
    shop_id: Annotated[int, Field(alias="shop_id")]
    sold_at: NotRequired[Annotated[Optional[datetime.datetime], Field(alias="sold_at")]]
    title: Annotated[str, Field(alias="title")]

class PublicItemsUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    price: NotRequired[Annotated[float, Field(alias="price")]]
    shop_id: NotRequired[Annotated[int, Field(alias="shop_id")]]
    sold_at: NotRequired[Annotated[Optional[datetime.datetime], Field(alias="sold_at")]]
    title: NotRequired[Annotated[str, Field(alias="title")]]

class PublicShops(BaseModel):
    city: Optional[str] = Field(alias="city")
    id: int = Field(alias="id")
    name: str = Field(alias="name")

class PublicShopsInsert(TypedDict):
    city: NotRequired[Annotated[Optional[str], Field(alias="city")]]
    id: Annotated[int, Field(alias="id")]
    name: Annotated[str, Field(alias="name")]

class PublicShopsUpdate(TypedDict):
    city: NotRequired[Annotated[Optional[str], Field(alias="city")]]
    id: NotRequired[Annotated[int, Field(alias="id")]]
    name: NotRequired[Annotated[str, Field(alias="name")]]

class PublicConstants(BaseModel):
    doc: Optional[JsonValue] = Field(alias="doc")
    nothing: Optional[str] = Field(alias="nothing")
    numbers: Optional[List[int]] = Field(alias="numbers")
    one: Optional[int] = Field(alias="one")
    x: Optional[str] = Field(alias="x")

class PublicCounted(BaseModel):
    items: Optional[int] = Field(alias="items")
    shop_id: Optional[int] = Field(alias="shop_id")
    total: Optional[float] = Field(alias="total")

class PublicDetailsOne(BaseModel):
    body: Optional[str] = Field(alias="body")
    item_id: Optional[int] = Field(alias="item_id")

class PublicDistinctTitles(BaseModel):
    title: Optional[str] = Field(alias="title")

class PublicFiltered(BaseModel):
    id: Optional[int] = Field(alias="id")
    shop_id: Optional[int] = Field(alias="shop_id")
    title: Optional[str] = Field(alias="title")

class PublicJoined(BaseModel):
    id: Optional[int] = Field(alias="id")
    shop_id: Optional[int] = Field(alias="shop_id")
    shop_name: Optional[str] = Field(alias="shop_name")
    title: Optional[str] = Field(alias="title")

class PublicLimited(BaseModel):
    id: Optional[int] = Field(alias="id")
    title: Optional[str] = Field(alias="title")

class PublicOnView(BaseModel):
    item_id: Optional[int] = Field(alias="item_id")
    name: Optional[str] = Field(alias="name")

class PublicPartly(BaseModel):
    double_price: Optional[float] = Field(alias="double_price")
    id: Optional[int] = Field(alias="id")
    loud: Optional[str] = Field(alias="loud")
    title: Optional[str] = Field(alias="title")

class PublicRecursiveLike(BaseModel):
    n: Optional[int] = Field(alias="n")

class PublicRenamed(BaseModel):
    item_id: Optional[int] = Field(alias="item_id")
    name: Optional[str] = Field(alias="name")
    shop: Optional[int] = Field(alias="shop")

class PublicSimple(BaseModel):
    id: Optional[int] = Field(alias="id")
    price: Optional[float] = Field(alias="price")
    shop_id: Optional[int] = Field(alias="shop_id")
    sold_at: Optional[datetime.datetime] = Field(alias="sold_at")
    title: Optional[str] = Field(alias="title")

class PublicUnioned(BaseModel):
    id: Optional[int] = Field(alias="id")
    title: Optional[str] = Field(alias="title")

class PublicViewWithSpaces(BaseModel):
    class: Optional[str] = Field(alias="class")
    the_id: Optional[int] = Field(alias="the id")

class PublicWithDetails(BaseModel):
    body: Optional[str] = Field(alias="body")
    id: Optional[int] = Field(alias="id")
    title: Optional[str] = Field(alias="title")

class PublicWithRule(BaseModel):
    id: Optional[int] = Field(alias="id")
    title: Optional[str] = Field(alias="title")

class PublicWithTrigger(BaseModel):
    id: Optional[int] = Field(alias="id")
    shop_name: Optional[str] = Field(alias="shop_name")
    title: Optional[str] = Field(alias="title")

class PublicWithTriggerAll(BaseModel):
    id: Optional[int] = Field(alias="id")
    title: Optional[str] = Field(alias="title")

class PublicShopCopy(BaseModel):
    city: Optional[str] = Field(alias="city")
    id: Optional[int] = Field(alias="id")
    name: Optional[str] = Field(alias="name")

class PublicStats(BaseModel):
    items: Optional[int] = Field(alias="items")
    shop_id: Optional[int] = Field(alias="shop_id")
