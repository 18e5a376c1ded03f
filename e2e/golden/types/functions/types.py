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

PublicLevel: TypeAlias = Literal["low", "high"]

class PublicPeople(BaseModel):
    boss_id: Optional[int] = Field(alias="boss_id")
    first_name: str = Field(alias="first_name")
    id: int = Field(alias="id")
    last_name: Optional[str] = Field(alias="last_name")

class PublicPeopleInsert(TypedDict):
    boss_id: NotRequired[Annotated[Optional[int], Field(alias="boss_id")]]
    first_name: Annotated[str, Field(alias="first_name")]
    id: Annotated[int, Field(alias="id")]
    last_name: NotRequired[Annotated[Optional[str], Field(alias="last_name")]]

class PublicPeopleUpdate(TypedDict):
    boss_id: NotRequired[Annotated[Optional[int], Field(alias="boss_id")]]
    first_name: NotRequired[Annotated[str, Field(alias="first_name")]]
    id: NotRequired[Annotated[int, Field(alias="id")]]
    last_name: NotRequired[Annotated[Optional[str], Field(alias="last_name")]]

class PublicPets(BaseModel):
    id: int = Field(alias="id")
    name: str = Field(alias="name")
    owner_id: int = Field(alias="owner_id")

class PublicPetsInsert(TypedDict):
    id: Annotated[int, Field(alias="id")]
    name: Annotated[str, Field(alias="name")]
    owner_id: Annotated[int, Field(alias="owner_id")]

class PublicPetsUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    name: NotRequired[Annotated[str, Field(alias="name")]]
    owner_id: NotRequired[Annotated[int, Field(alias="owner_id")]]

class PublicPeopleView(BaseModel):
    first_name: Optional[str] = Field(alias="first_name")
    id: Optional[int] = Field(alias="id")



class PublicPoint3(BaseModel):
    x: Optional[float] = Field(alias="x")
    y: Optional[float] = Field(alias="y")
    z: Optional[float] = Field(alias="z")
