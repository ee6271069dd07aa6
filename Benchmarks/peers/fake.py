"""The fake that a team writes in an afternoon: FastAPI over SQLite, one process. It knows no users, no limits, no time."""
import json
import os
import sqlite3

from fastapi import FastAPI, HTTPException

app = FastAPI()
database = sqlite3.connect(os.environ["FAKE_DATABASE"], check_same_thread=False, isolation_level=None)
database.execute("PRAGMA journal_mode = WAL")
database.execute("PRAGMA synchronous = NORMAL")
database.execute("CREATE TABLE IF NOT EXISTS items (position INTEGER PRIMARY KEY, id TEXT UNIQUE, brand TEXT, body TEXT)")
database.execute("CREATE INDEX IF NOT EXISTS items_by_brand ON items (brand, position)")
ITEM = {"status": {"result": {"id": "authentic", "final": True}}, "properties": {"brand": {"id": "nike", "name": "Nike"}},
        "text": "x" * 1000}


@app.get("/ready")
async def ready():
    return {"ready": True}


@app.get("/items/{item_id}")
async def show(item_id: str):
    row = database.execute("SELECT body FROM items WHERE id = ?", (item_id,)).fetchone()
    if row is None:
        raise HTTPException(404)
    return json.loads(row[0])


@app.post("/search")
async def search(query: dict):
    rows = database.execute(
        "SELECT body FROM items WHERE brand = ? ORDER BY position DESC LIMIT 25", (query["brand"],)).fetchall()
    return {"items": [json.loads(row[0]) for row in rows]}


@app.post("/items", status_code=201)
async def create(item: dict):
    position = database.execute("SELECT COALESCE(MAX(position), 0) + 1 FROM items").fetchone()[0]
    made = {**ITEM, **item, "id": f"item-{position}"}
    database.execute("INSERT INTO items VALUES (?, ?, ?, ?)", (position, made["id"], made["brand"], json.dumps(made)))
    return made
