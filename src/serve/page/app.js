"use strict";
// Lists the tables, each with a link to its first position.
fetch("/api/v1/tables").then((answer) => answer.json()).then(({ tables }) => {
  const list = document.getElementById("tables");
  for (const { table, title, states } of tables) {
    const link = document.createElement("a");
    link.href = "/api/v1/" + encodeURIComponent(table);
    link.textContent = `${table}: ${title}, ${states.toLocaleString("en")} states`;
    const item = document.createElement("li");
    item.append(link);
    list.append(item);
  }
});
