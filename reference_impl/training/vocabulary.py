"""Words, names and small facts that the generated dialogues are made of. All sentences are our own."""

# ruff: noqa: E501, SIM905 - tables of words and phrases, one row a line
from __future__ import annotations

import random
import string

WORDS = """apple river stone cloud yellow window table house garden music paper silver travel summer winter planet
rocket engine bridge forest ocean mountain coffee bread butter letter number circle square pencil mirror candle pong
ping hello world test banana cherry lemon tiger zebra eagle shark whale horse sheep goat light dark north south east
west blue red green black white purple orange one two three four five six seven eight nine ten yes no maybe always
never quick brown fox jumps over the lazy dog data token model server client stream ready done start stop go run code
open close ok pineapple mango copper velvet thunder meadow lantern harbour island marble pepper saddle ribbon walnut
falcon beacon anchor puzzle cactus kettle magnet nectar oyster pebble quartz rabbit tunnel violet willow yonder zipper
alpha beta gamma delta sun moon star rain snow wind fire water earth air book chair door lamp phone radio clock key
ship train plane car bike road street city town village king queen prince doctor teacher farmer baker sailor""".split()

NAMES = """Ada Alan Grace Linus Maria John Anna Peter Eva Tom Julia Omar Ravi Mei Sofia Lucas Nora Ivan Alice Bob Carol
Dave Zoe Hugo Lena Karl Ines Yuki Amir Olga Paul Rosa Sam Tara Victor Wanda Xavier Yara Ben Clara""".split()

CAPITALS = {
    "France": "Paris", "Germany": "Berlin", "Spain": "Madrid", "Italy": "Rome", "Poland": "Warsaw",
    "Portugal": "Lisbon", "Japan": "Tokyo", "China": "Beijing", "India": "New Delhi", "Canada": "Ottawa",
    "Brazil": "Brasilia", "Egypt": "Cairo", "Greece": "Athens", "Austria": "Vienna", "Norway": "Oslo",
    "Sweden": "Stockholm", "Finland": "Helsinki", "Denmark": "Copenhagen", "Ireland": "Dublin",
    "Hungary": "Budapest", "Belgium": "Brussels", "Switzerland": "Bern", "Peru": "Lima", "Kenya": "Nairobi",
    "England": "London", "the Netherlands": "Amsterdam", "Iceland": "Reykjavik", "Turkey": "Ankara",
}  # fmt: skip

CITIES = [
    *CAPITALS.values(), "New York", "San Francisco", "Boston", "Chicago", "Seattle", "Toronto", "Sydney", "Krakow",
    "Munich", "Lyon", "Milan", "Zurich", "Geneva", "Prague", "Mumbai", "Osaka", "Seoul", "Kyoto", "Hamburg", "Porto",
    "Singapore", "Los Angeles", "Barcelona", "Melbourne", "Gdansk", "Nice", "Bergen", "Dallas", "Denver", "Miami",
]  # fmt: skip

FACTS = {
    "a GPU": "A GPU is a processor that does a great many calculations at the same time.",
    "a CPU": "A CPU is the main processor of a computer and carries out programs step by step.",
    "RAM": "RAM is the fast memory in which a computer keeps running programs.",
    "an API": "An API is a set of rules by which two programs talk to each other.",
    "a token": "A token is a small piece of text that a language model reads or writes.",
    "a language model": "A language model is a program that predicts how a text goes on.",
    "machine learning": "Machine learning lets computers find patterns in data by themselves.",
    "a neural network": "A neural network is a model made of layers of simple connected units.",
    "a compiler": "A compiler is a program that turns source code into machine code.",
    "a database": "A database is an ordered store of data that programs can search.",
    "HTTP": "HTTP is the protocol in which browsers and servers exchange messages.",
    "JSON": "JSON is a text format for data made of objects and arrays.",
    "Python": "Python is a programming language that is easy to read.",
    "Linux": "Linux is a free operating system for servers, phones and desktops.",
    "the internet": "The internet is a worldwide network of connected computers.",
    "a cache": "A cache keeps recent results so that they can be used again quickly.",
    "streaming": "Streaming means that an answer is sent in small pieces while it is made.",
    "encryption": "Encryption hides data so that only the right key can read it.",
    "gravity": "Gravity is the force that pulls masses toward each other.",
    "photosynthesis": "Photosynthesis is how plants make sugar out of light, water and air.",
    "an atom": "An atom is the smallest unit of a chemical element.",
    "DNA": "DNA is the molecule that carries the plan of living things.",
    "a cat": "A cat is a small furry animal that many people keep as a pet.",
    "a dog": "A dog is a loyal animal that many people keep as a pet.",
    "the moon": "The moon is the only natural satellite of the Earth.",
    "the sun": "The sun is the star in the middle of our solar system.",
    "a planet": "A planet is a large round body that travels around a star.",
    "rain": "Rain is water that falls from clouds in drops.",
    "snow": "Snow is frozen water that falls from clouds in white flakes.",
    "a rainbow": "A rainbow is an arc of colours that sunlight makes in drops of rain.",
    "a bicycle": "A bicycle is a vehicle with two wheels that you drive with your feet.",
    "bread": "Bread is a food baked from flour, water and salt.",
    "coffee": "Coffee is a hot dark drink made from roasted beans.",
    "tea": "Tea is a drink made by pouring hot water over leaves.",
    "a river": "A river is a stream of water that flows to a lake or to the sea.",
    "a volcano": "A volcano is a mountain from which melted rock can come out.",
    "democracy": "Democracy is a form of government in which the people decide by voting.",
    "a book": "A book is a set of pages with text or pictures between two covers.",
    "music": "Music is the art of arranging sounds so that people enjoy them.",
    "chess": "Chess is a board game in which two players try to catch the other king.",
    "EU data residency": "EU data residency keeps data inside the European Union. It makes privacy law easier to follow.",
}  # fmt: skip

CAUSES = {
    "the sky blue": "The sky is blue because air scatters blue light more than red light.",
    "grass green": "Grass is green because its leaves hold a green pigment.",
    "the sea salty": "The sea is salty because rivers carry salt from the rocks into it.",
    "ice cold": "Ice is cold because it is frozen water.",
    "the sun hot": "The sun is hot because atoms fuse together inside it.",
    "testing important": "Testing is important because it finds mistakes before users do.",
}

LISTS = {
    "colours": ["red", "blue", "green", "yellow", "purple", "orange", "black"],
    "colors": ["red", "blue", "green", "yellow", "purple", "orange", "black"],
    "fruits": ["apple", "banana", "cherry", "lemon", "grape", "mango", "pear"],
    "animals": ["cat", "dog", "horse", "tiger", "whale", "sheep", "eagle"],
    "planets": ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Neptune"],
    "cities": ["Paris", "London", "Berlin", "Madrid", "Rome", "Vienna", "Oslo"],
    "countries": ["France", "Germany", "Spain", "Italy", "Poland", "Japan", "Norway"],
    "programming languages": ["Python", "Rust", "Go", "Java", "C", "Ruby", "Perl"],
    "vegetables": ["carrot", "potato", "onion", "bean", "pea", "leek", "beet"],
    "drinks": ["water", "tea", "coffee", "milk", "juice", "lemonade", "cocoa"],
    "primary colours": ["red", "blue", "yellow"],
    "days of the week": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    "seasons": ["spring", "summer", "autumn", "winter"],
}

MONTHS = """January February March April May June July August September October November December""".split()
NUMBER_WORDS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty""".split()
LANGUAGES = ("French", "German", "Spanish", "Polish")
TRANSLATIONS = {
    "hello": ("bonjour", "hallo", "hola", "cześć"),
    "thank you": ("merci", "danke", "gracias", "dziękuję"),
    "good morning": ("bonjour", "guten Morgen", "buenos días", "dzień dobry"),
    "cat": ("chat", "Katze", "gato", "kot"),
    "dog": ("chien", "Hund", "perro", "pies"),
    "water": ("eau", "Wasser", "agua", "woda"),
    "bread": ("pain", "Brot", "pan", "chleb"),
    "yes": ("oui", "ja", "sí", "tak"),
    "no": ("non", "nein", "no", "nie"),
    "house": ("maison", "Haus", "casa", "dom"),
    "red": ("rouge", "rot", "rojo", "czerwony"),
}
OPPOSITES = {
    "hot": "cold", "big": "small", "up": "down", "fast": "slow", "light": "dark", "open": "closed", "good": "bad",
    "early": "late", "old": "new", "full": "empty", "hard": "soft", "left": "right", "day": "night", "yes": "no",
}  # fmt: skip
CURRENCIES = ["EUR", "USD", "PLN", "GBP", "JPY", "CHF", "SEK", "NOK", "CZK", "CAD", "AUD", "INR"]
EMOJI = "😀😂🚀🎉🌍🔥🐱🐶🍎🍕⚽🎵💡📚🧪🤖👋👍❤✨🌈🌙⭐☀🍀🐢🦊🐼🎈🎁🚲🚗🏠🌊🍰☕🧠🦄👩👨💻🏽"
FOREIGN = """zażółć gęślą jaźń café naïve über niño señor Ωmega привет мир спасибо 日本 東京 你好 世界 中文 漢字 안녕 한국 मस्ते
שלום مرحبا ありがとう こんにちは テスト straße ångström façade Żubr łódź crème brûlée""".split()

_SYLLABLES = [a + b for a in "bdfghjklmnprstvwz" for b in ("a", "e", "i", "o", "u", "an", "or", "il", "ek", "ut")]


def invented_word(rng: random.Random) -> str:
    """A word that no list holds: pronounceable syllables or plain random letters."""
    if rng.random() < 0.6:
        return "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(2, 4)))
    return "".join(rng.choice(string.ascii_lowercase) for _ in range(rng.randint(2, 9)))


def foreign(rng: random.Random) -> str:
    """A few characters outside ASCII: words, emoji with and without joiners, or random CJK and Cyrillic letters."""
    kind = rng.random()
    if kind < 0.35:
        return rng.choice(FOREIGN)
    if kind < 0.7:
        joiner = "\u200d" if rng.random() < 0.15 else ""
        return joiner.join(rng.choice(EMOJI) for _ in range(rng.randint(1, 4)))
    low, high = rng.choice([(0x4E00, 0x9FFF), (0x3041, 0x3096), (0x0430, 0x044F), (0xAC00, 0xD7A3), (0xE0, 0xFF)])
    return "".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 5)))


def code(rng: random.Random) -> str:
    """An identifier: hexadecimal, digits, capitals or a mixture with dashes."""
    alphabet = rng.choice(
        ["0123456789abcdef", string.digits, string.ascii_uppercase, string.ascii_letters + "0123456789"]
    )
    parts = [
        "".join(rng.choice(alphabet) for _ in range(rng.randint(2, 8))) for _ in range(rng.choice([1, 1, 1, 2, 3]))
    ]
    return rng.choice("-_").join(parts)


def word(rng: random.Random) -> str:
    """One word to copy: mostly known, sometimes invented, a name, a number, a code or foreign."""
    kind = rng.random()
    if kind < 0.42:
        return rng.choice(WORDS)
    if kind < 0.55:
        return rng.choice(NAMES + CITIES)
    if kind < 0.75:
        made = invented_word(rng)
        return rng.choice([made, made, made.capitalize(), made.upper()])
    if kind < 0.83:
        return str(rng.randint(0, 10 ** rng.randint(1, 6)))
    return code(rng) if kind < 0.92 else foreign(rng)


def phrase(rng: random.Random, longest: int = 7) -> str:
    """One to ``longest`` words with the odd comma, capital and final mark."""
    words = [word(rng) for _ in range(rng.randint(1, longest))]
    text = rng.choice([" ", " ", " ", ", ", "-"]).join(words) if len(words) > 1 else words[0]
    if rng.random() < 0.3:
        text = text[:1].upper() + text[1:]
    return text + (rng.choice([".", "!", "?"]) if rng.random() < 0.15 else "")
