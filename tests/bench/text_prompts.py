"""Fifty beginnings for a base model and fifty questions for a chat model, of many kinds."""

from __future__ import annotations

_STORIES = (
    "The lighthouse keeper had not spoken to anyone for eleven days when",
    "In the year 1821 a young clockmaker from Geneva",
    "On the last train of the night there were only three passengers:",
    "Nobody in the village remembered who had planted the oak, but",
    "She opened the letter, read it twice, and",
    "The ship had been missing for a month when the harbour master",
    "When the snow melted that spring, the children found",
    "“You are late,” said the old woman without looking up. “",
)
_FACTS = (
    "The water cycle begins when",
    "Photosynthesis is the process by which",
    "The capital of France is Paris, and the capital of Portugal is",
    "A triangle with three equal sides is called",
    "The Second World War ended in",
    "The human heart has four chambers:",
    "Honey keeps for centuries because",
    "The main difference between a comet and an asteroid is",
    "The speed of light in a vacuum is about",
    "Bees find their way back to the hive by",
    "Concrete is made of",
    "The Great Wall of China was built to",
)
_LISTS = (
    "Rivers of Europe and the seas they reach:\n\n1. Rhine, North Sea\n2. Danube, Black Sea\n3.",
    "Ingredients for a simple bread:\n- 500 g flour\n- 10 g salt\n-",
    "The planets in order from the Sun: Mercury, Venus,",
    "Things to pack for a week in the mountains:\n\n*",
    "Monday: soup. Tuesday: pasta. Wednesday:",
    "a = 1, b = 2, c = 3, d =",
    "| country | capital |\n| --- | --- |\n| Italy | Rome |\n| Spain | Madrid |\n| Japan |",
    "2, 4, 8, 16, 32,",
)
_CODE = (
    "def fibonacci(n: int) -> int:\n    ",
    "def celsius_to_fahrenheit(value: float) -> float:\n    return value * 9 / 5 + 32\n\n\ndef ",
    "import json\n\n\ndef read_config(path):\n    with open(path) as file:\n        ",
    "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n",
    "for (int i = 0; i < n; i++) {\n    ",
    "SELECT name, COUNT(*) FROM orders\nWHERE ",
    "<html>\n<head>\n<title>My first page</title>\n</head>\n<body>\n",
    "#!/bin/sh\n# Back up the home folder to an external disk.\n",
)
_TALK = (
    "Dear Mr Brown,\n\nThank you for your letter of 3 May. ",
    "Q: How do I remove a red wine stain?\nA:",
    "To whom it may concern:\n\nI am writing to",
    "Recipe: pancakes for four. First,",
    "Interviewer: What made you want to become a pilot?\nPilot:",
    "The weather tomorrow: in the north",
    "Ladies and gentlemen, it is a great pleasure to",
    "News in brief. LONDON —",
)
_LANGUAGES = (
    "Il était une fois une princesse qui",
    "Die Kartoffel kam im 16. Jahrhundert nach Europa und",
    "El perro de mi vecino",
    "English: good morning. German: guten Morgen. French: bonjour. Spanish:",
    "吾輩は猫である。名前は",
    "La ricetta della nonna comincia con",
)
COMPLETIONS = (*_STORIES, *_FACTS, *_LISTS, *_CODE, *_TALK, *_LANGUAGES)

_TASKS = (
    "reverses a string", "counts the vowels in a text", "merges two sorted lists",
    "finds the largest number in a list", "checks whether a number is prime",
    "reads a CSV file and returns its rows", "flattens a nested list",
    "removes duplicates but keeps the order", "computes the n-th Fibonacci number",
    "converts Roman numerals to integers", "validates an e-mail address with a regular expression",
    "returns the words of a text by frequency", "implements binary search",
    "generates all permutations of a list", "transposes a matrix",
)  # fmt: skip
_EXPLAIN = (
    "what a hash table is", "the difference between a list and a tuple in Python", "recursion",
    "what a race condition is", "how Git branches work", "what an index does in a database",
    "the difference between TCP and UDP", "what a closure is", "Big O notation", "what REST means",
    "how garbage collection works", "what dependency injection is",
)  # fmt: skip
_QUESTIONS = (
    "Write a SQL query that lists the ten customers with the highest total of orders.",
    "Write a C function that swaps two integers by pointer.",
    "Write a JavaScript function that waits for a number of milliseconds.",
    "Write a bash command that finds all files larger than 100 MB.",
    "Write a regular expression for a date in the form 2024-05-31.",
    "Write a Rust struct for a point with a method that returns its distance from the origin.",
    "Write a Dockerfile for a small Flask application.",
    "Write a unit test for a function add(a, b).",
    "What is wrong with this code? `for i in range(10) print(i)`",
    "Translate to Go: `print([x * x for x in range(5)])`",
    "Give three tips for naming variables.",
    "What does the keyword `yield` do in Python?",
    "Name five sorting algorithms and their average complexity.",
    "How do I undo the last commit but keep the changes?",
    "Write a haiku about a compiler.",
    "Who wrote the novel Frankenstein, and when?",
    "What is 17 times 23? Show your steps.",
    "List the primary colours and one fruit of each.",
    "Erkläre in zwei Sätzen, was ein Zeiger in C ist.",
    "Écris une fonction Python qui calcule la moyenne d'une liste.",
    "Summarise in one sentence: The quick brown fox jumps over the lazy dog every morning.",
    "Make a JSON object that describes a book with title, author and year.",
    "Hello! Who are you?",
)
QUESTIONS = (
    *(f"Write a Python function that {task}." for task in _TASKS),
    *(f"Explain {what} to a beginner." for what in _EXPLAIN),
    *_QUESTIONS,
)
