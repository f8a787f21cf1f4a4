# stilltrue over HTTP. Create a token first, then serve (docs/http.md):
#   docker build -t stilltrue .
#   docker run --rm -v stilltrue:/data stilltrue token create --tenant acme
#   docker run -d -v stilltrue:/data -p 127.0.0.1:8765:8765 stilltrue
FROM python:3.12-slim

RUN useradd --create-home --uid 10001 stilltrue && install -d -o stilltrue /data
COPY . /src
RUN pip install --no-cache-dir /src && rm -rf /src

USER stilltrue
WORKDIR /data
ENV XDG_DATA_HOME=/data STILLTRUE_HTTP_HOST=0.0.0.0
VOLUME /data
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8765/healthz', timeout=3)"]
ENTRYPOINT ["stilltrue"]
CMD ["serve", "--http"]
