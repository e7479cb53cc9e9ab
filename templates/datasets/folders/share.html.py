BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u'People and teams with access to %(name)s besides its own team. Changes apply at once.') 
    SSSSSS SSS SSSSS SSSS SSSSSS SS SSSSSSSS SSSSSSS SSS SSS SSSSS SSSSSSS SSSSS SS SSSSS
  
  XXXXXXX XXXXXXX pgettext(u'page title, give access', u'Share') X
          XXXXXXXXXX XX
  XXXX XXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXXX
    XXXXX XXXXXXXXXXXXXXX
          XXXXXXXXXXXXX
          XXXXXXXXBBB BBBBBBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBX
          XXXXXXXXXX
      BBBBBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'field', u'Person or team') XX
        XXXXXXX XXXXXXXXXXX XXXXXXXXX
          XXXXXXX XXXXXXXXX pgettext(u'choice', u'Choose…') XXXXXXXXX
          BB BBBBB
            XXXXXXXXX XXXXXXX pgettext(u'group of choices', u'Teams') XX
              BBB BBB BB BBBBBXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXBBBBBB
            XXXXXXXXXXX
          BBBBB
          BB BBBBBB
            XXXXXXXXX XXXXXXX pgettext(u'group of choices', u'People') XX
              BBB BBB BB BBBBBB
                XXXXXXX XXXXXXXXXXXXXXXX XXXXXXXXXXX
              BBBBBB
            XXXXXXXXXXX
          BBBBB
        XXXXXXXXX
      XXXXXXXXXX
      XXXX XXXXXXXXXXXX
        XXXXXXX XXXXXXXXXXXXXX
                XXXXXXXXXXXXXXXX
                XXXXXXXXXXXX pgettext(u'spoken label', u'Access') XX
          XXXXXXX XXXXXXXXXX pgettext(u'choice', u'can read') XXXXXXXXX
          XXXXXXX XXXXXXXXXX gettext(u'can read and write') XXXXXXXXX
        XXXXXXXXX
        XXXXXXX XXXXXXXXXX XXXXXXXX
                XXXXXXXXX
                XXXXXXXXXXXXXXX pgettext(u'button, give access', u'Share') XXXXXXXXX
      XXXXXX
    XXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Shared with') X
             XXXXXXXFFFFFFXX
      BBB BBB BB BBBBBBBBBBB
        XXXXX XXXXXXXXXXX
              XXXXXXXXXXXXX
              XXXXXXXXBBB BBBBBBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBX
              XXXXXXXXXX
          BBBBBBBBBB
          XXXXXX XXXXXXXXXXXXX
                 XXXXXXXXXXX
                 XXXXXXXBB BBBBBBBBXXXXXBBBBXXXXXXXBBBBBXX
          XX XXXXXXXXXXXXX
            BB BBBBBBBB
              
            BBBB
              
            BBBBB
          XXXX
          XXXXX XXXXXXXXXXXX XXXXX XXXXXXXX
            BB BBBBBBBBBBBBB
               gettext(u'can read and write') 
            BBBB
               pgettext(u'text, datasets', u'can read') 
            BBBBB
          XXXXXXX
          XXXXX XXXXXXXXXXXXXXXXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXX pgettext(u'button', u'Stop sharing') XXXXXXXXX
        XXXXXXX
      BBBBB
        XX XXXXXXXXXXXX XXXXXXX
           gettext(u'Only %(team)s has access. Share it to let people or other teams read these files, or also change them.') 
            SSSS SSSSSSSS SSS SSSSSSS SSSSS SS SS SSS SSSSSS SS SSSSS SSSSS SSSS SSSSS SSSSSS SS SSSS SSSSSS
            SSSSS
          
        XXXX
      BBBBBB
    XXXXXXXXXX
  XXXXXX
BBBBBBBB
