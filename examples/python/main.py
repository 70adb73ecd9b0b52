"""Sends a request to a model as the view of its conversation; precis serve runs:

    pip install precis-httpx
    python main.py https://api.openai.com/v1/chat/completions "Bearer $OPENAI_API_KEY" <request.json
"""

import sys

import httpx
from precis_httpx import PrecisTransport

client = httpx.Client(transport=PrecisTransport())  # also OpenAI(http_client=client), Anthropic(http_client=client)
headers = {"Content-Type": "application/json", "Authorization": sys.argv[2]}
answer = client.post(sys.argv[1], content=sys.stdin.buffer.read(), headers=headers)
print(answer.text)
