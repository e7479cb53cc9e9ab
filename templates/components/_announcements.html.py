BBBB BBBBBB BBBB
 #

BBBB BBBBBBBBBBBBBBBBBB
  BB BBBB
    XXXX XXXXXXXXXXXXXXXXXXXXX
         XXXXXXXXXXXXX
         XXXXXXXXXXXX pgettext(u'spoken label', u'Announcements') XX
      BBB B BB BBBB
        XXXX XXXXXXXXXXX FFFFFFFFFFFFFFFFFFFFFFFFXX
          XXXXXX
            BB BBBBBBB BB BBBBBBBBB
              XXXXXXXX pgettext(u'text, components', u'Incident') XXXXXXXXX
            BBBB BBBBBBB BB BBBBBBBBB
              XXXXXXXX pgettext(u'text, components, severity', u'Warning') XXXXXXXXX
            BBBBB
            
            BB BBB BBBBBBBB
              XXXXX XXXXXXXXXXXXXXX  gettext(u'from the platform team') XXXXXXX
            BBBBB
          XXXXXXX
          XXXXX XXXXXXXXXXXXX XXXXXXXXBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBBXX
            BBBBBBBBBB
            XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX
            XXXXXXX XXXXXXXXXX XXXXX XXXXXX
                    XXXXXXXXXXXX pgettext(u'spoken label', u'Dismiss') XXXXXXXXXXXX
          XXXXXXX
        XXXXXX
      BBBBBB
    XXXXXX
  BBBBB
BBBBBBB
