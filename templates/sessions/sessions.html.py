BBBBBBB BBBBBBBBBBB
BBBB BBBB
 #

BBBBB BBBBBXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXX pgettext(u'page title, interactive sessions', u'Sessions') X
          XXXXX gettext(u'Notebooks, editors and other web apps that run on the cluster.') XX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBBBBBB
        XXXXXXXXX XXXXXXBBB BBBBBBBBBBBBB BBBBBBBBBBBBX
                  XXXXXXX pgettext(u'button', u'New session') X XX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXXXXXXXX XXXXXXXXXXXX XX
  XXXXXXXX XXXXXXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'empty list', u'No sessions yet') X
             XXXXXXXXXXXXXXX XXXXXXX XXXXX XXXXXXXXX
       gettext(u'A session is JupyterLab, VS Code, a terminal or another web app on a GPU of the cluster.') 
      XXXXXXX XXXXXXXXXXXXXXX
        BB BBBBBBBBB
          XXXXXXXXX XXXXXXBBB BBBBBBBBBBBBB BBBBBBBBBBBBX
                    XXXXXXX pgettext(u'button', u'New session') X XX
        BBBBB
      XXXXXXXXX
    XXXXXXXXXX
  XXXXXXXXXX
BBBBBBBB
